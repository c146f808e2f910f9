// Completion from the JSON Schema of scenarios: the keys of the table in which the cursor is.

export interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  properties?: Record<string, Schema>;
  items?: Schema;
  oneOf?: Schema[];
  anyOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  description?: string;
  default?: unknown;
}

export interface Offer {
  label: string;
  detail: string;
}

/** Returns the path of the table around a position, and the key whose value is expected there, if any. */
export function pathAt(text: string, position: number): { path: string[]; key: string | undefined } {
  const before = text.slice(0, position);
  const header = [...before.matchAll(/^[ \t]*\[\[?([\w.-]+)\]\]?/gm)].at(-1);
  const path = header?.[1]?.split(".") ?? [];
  const body = header === undefined ? before : before.slice(header.index + header[0].length);
  let key: string | undefined;
  const around: { opens: string; key: string | undefined }[] = [];
  for (const [word] of body.matchAll(/"[^"\n]*"?|#[^\n]*|[\w-]+(?=\s*=)|[{}[\],\n]/g)) {
    if (word === "{" || word === "[") {
      around.push({ opens: word, key });
      key = undefined;
    } else if (word === "}" || word === "]") {
      around.pop();
      key = undefined;
    } else if (word === "," || (word === "\n" && around.length === 0)) key = undefined;
    else if (/^[\w-]+$/.test(word)) key = word;
  }
  const last = around.at(-1);
  if (last?.opens === "[") {
    key = last.key;
    around.pop();
  }
  return { path: [...path, ...around.flatMap(({ key }) => key ?? [])], key };
}

/** Returns the keys of the table at a path, or the words that a key may be set to. */
export function offers(schema: Schema, path: string[], key: string | undefined): Offer[] {
  const resolve = (one: Schema): Schema => {
    const name = one.$ref?.replace("#/$defs/", "");
    return name === undefined ? one : (schema.$defs?.[name] ?? {});
  };
  // All that a value may be.
  const every = (one: Schema): Schema[] => {
    const found = resolve(one);
    return [found, ...[...(found.oneOf ?? []), ...(found.anyOf ?? [])].flatMap(every)];
  };
  let tables = every(schema);
  for (const step of path) {
    const next = tables.flatMap((table) => (table.properties?.[step] ? [table.properties[step]] : []));
    tables = next.flatMap(every).flatMap((one) => (one.items ? [one, ...every(one.items)] : [one]));
  }
  if (key === undefined) {
    const properties = tables.flatMap((table) => Object.entries(table.properties ?? {}));
    return properties.map(([label, one]) => ({ label, detail: one.description ?? resolve(one).description ?? "" }));
  }
  const values = tables.flatMap((table) => (table.properties?.[key] ? every(table.properties[key]) : []));
  const words = values.flatMap((one) => [one, ...(one.items ? every(one.items) : [])]).flatMap((one) =>
    (one.enum ?? (one.const === undefined ? [] : [one.const])).map((word) => ({ label: JSON.stringify(word), detail: one.description ?? "" })),
  );
  return words;
}
