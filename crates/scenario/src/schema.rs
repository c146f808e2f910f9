//! The JSON Schema of scenario files.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};
use skywave_path::{LossChoice, QueueChoice, TraceChoice};
use skywave_registry::{Choice, OpenSet};
use skywave_traffic::SourceChoice;

use crate::{Backend, Registry, Scenario, SocketSpec};

/// The pattern of a member written in Python: `module:Class`, or a class inside another.
const PYTHON_CLASS: &str = r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$";

impl<B: Backend> Registry<B> {
    /// Returns the JSON Schema (draft 2020-12) of scenarios that name members of this registry.
    ///
    /// Descriptions are the documentation of the Rust types. Quantities have a regular expression
    /// for their units, and numbers have their unit as `x-unit` (`1` if dimensionless). `x-member`
    /// is the name of a member of an open set, `x-python` the class that members in Python extend.
    pub fn schema(&self) -> Value {
        let mut generator = SchemaSettings::draft2020_12().into_generator();
        let root = generator.subschema_for::<Scenario>();
        let mut queues = forms(&self.queues, &mut generator);
        queues.push(in_python("queue", "Queue"));
        let mut losses = forms(&self.losses, &mut generator);
        losses.push(in_python("losses", "Losses"));
        let traces = forms(&self.traces, &mut generator);
        let mut sources = forms(&self.sources, &mut generator);
        sources.push(in_python("source", "Source"));
        let transports = forms(&self.transports, &mut generator);
        let tcp = self.tcp_parameters(&mut generator);
        let dccp = self.dccp_parameters(&mut generator);
        let mut definitions = generator.take_definitions(true);
        let queue = "A queue discipline: `{ name = { parameters } }`, or its name alone.";
        definitions[QueueChoice::DEFINITION] = json!({ "description": queue, "oneOf": queues });
        let loss = "Losses other than by the queue. They occur before the queue, so lost packets \
                    use no bandwidth.";
        definitions[LossChoice::DEFINITION] = json!({ "description": loss, "oneOf": losses });
        let source = json!({ "description": "An application.", "oneOf": sources });
        definitions[SourceChoice::DEFINITION] = source;
        for (definition, members) in [(TraceChoice::DEFINITION, traces), ("Transport", transports)]
        {
            if let Value::Array(given) = &mut definitions[definition]["oneOf"] {
                given.extend(members);
            }
        }

        let controls = control_schema(tcp.keys());
        add_parameters(&mut definitions["Tcp"], tcp);
        patch(&mut definitions["Tcp"]["properties"]["control"], controls);

        self.complete_dccp(&mut definitions["Dccp"], dccp);

        let tables: Vec<_> = self.probes.names().collect();
        let items = &mut definitions["Probes"]["properties"]["tables"]["items"];
        patch(items, json!({ "enum": tables }));

        document("Skywave scenario", root.to_value(), definitions)
    }

    /// Returns the JSON Schema of [`SocketSpec`] with members of this registry, in the same form.
    pub fn socket_schema(&self) -> Value {
        let mut generator = SchemaSettings::draft2020_12().into_generator();
        let root = generator.subschema_for::<SocketSpec>();
        let parameters = self.dccp_parameters(&mut generator);
        let mut definitions = generator.take_definitions(true);
        self.complete_dccp(&mut definitions["Config"], parameters);
        document("Skywave connection", root.to_value(), definitions)
    }

    /// Adds the registered CCIDs and controls to a definition that selects them.
    fn complete_dccp(&self, definition: &mut Value, parameters: Map<String, Value>) {
        let known: Vec<_> = self.ccids.numbers().map(|ccid| ccid.0).collect();
        let controls = control_schema(self.controls.names());
        add_parameters(definition, parameters);
        let properties = &mut definition["properties"];
        patch(&mut properties["ccid"], json!({ "enum": known }));
        patch(&mut properties["control"], controls);
    }

    /// Returns the parameters of TCP's controls, by name.
    fn tcp_parameters(&self, generator: &mut SchemaGenerator) -> Map<String, Value> {
        let mut all: Map<_, _> = members(&self.controls, generator).collect();
        all.extend(members(&self.tcp_controls, generator));
        all
    }

    /// Returns the parameters of CCIDs and of the controls of CCIDs, by their key in a file.
    fn dccp_parameters(&self, generator: &mut SchemaGenerator) -> Map<String, Value> {
        let mut all: Map<_, _> = members(&self.controls, generator).collect();
        let ccids = self.ccids.schemas(generator);
        all.extend(ccids.map(|(key, schema)| (key.to_owned(), schema.to_value())));
        all
    }
}

/// Returns the forms of a selection from `set`: its name with parameters, or only its name if all
/// parameters have defaults.
fn forms<T: ?Sized>(set: &OpenSet<T>, generator: &mut SchemaGenerator) -> Vec<Value> {
    let none = Value::Object(Map::new());
    let names = set.names();
    let alone: Vec<_> = names.filter(|name| set.read(name, &none).is_ok()).collect();
    let mut forms = Vec::new();
    if !alone.is_empty() {
        forms.push(json!({
            "description": "Its name alone selects the defaults of all parameters.",
            "type": "string",
            "enum": alone,
        }));
    }
    for (name, parameters) in members(set, generator) {
        let mut parameters = parameters;
        let class = match &mut parameters {
            Value::Object(keys) => keys.shift_remove("x-class"),
            _ => None,
        };
        let mut form = json!({
            "description": set.doc(&name),
            "type": "object",
            "properties": { name.as_str(): parameters },
            "required": [name],
            "additionalProperties": false,
        });
        if let Some(class) = class {
            form["x-class"] = class;
        }
        forms.push(form);
    }
    forms
}

/// Returns the form of a member written in Python, whose class extends `class` of `skywave.{module}`.
fn in_python(module: &str, class: &str) -> Value {
    json!({
        "description": format!(
            "A class in Python that extends `skywave.{class}`, with the parameters that its \
             constructor takes. Its name alone selects the defaults of all parameters."
        ),
        "type": ["string", "object"],
        "pattern": PYTHON_CLASS,
        "patternProperties": { PYTHON_CLASS: { "type": "object" } },
        "additionalProperties": false,
        "minProperties": 1,
        "maxProperties": 1,
        "x-python": [module, class],
    })
}

fn document(title: &str, root: Value, definitions: Map<String, Value>) -> Value {
    let mut document = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
    });
    patch(&mut document, root);
    document["$defs"] = Value::Object(definitions);
    tidy(&mut document);
    document
}

/// Returns each member's name and the schema of its parameters.
fn members<'a, T: ?Sized>(
    set: &'a OpenSet<T>,
    generator: &'a mut SchemaGenerator,
) -> impl Iterator<Item = (String, Value)> {
    set.names().filter_map(|name| {
        let schema = set.schema(name, generator).map(Schema::to_value)?;
        Some((name.to_owned(), schema))
    })
}

/// Returns the schema of the name of a control or of a Python class that implements one.
fn control_schema<N: AsRef<str>>(names: impl Iterator<Item = N>) -> Value {
    let names: Vec<_> = names.map(|name| name.as_ref().to_owned()).collect();
    json!({ "anyOf": [{ "enum": names }, { "pattern": PYTHON_CLASS }] })
}

/// Adds the parameter tables to a definition that selects members by name.
fn add_parameters(schema: &mut Value, parameters: Map<String, Value>) {
    for (name, parameters) in parameters {
        let mut parameters = parameters;
        parameters["x-member"] = json!(name);
        schema["properties"][name.as_str()] = parameters;
    }
    schema["patternProperties"] = json!({
        PYTHON_CLASS: {
            "description": "Parameters of a control in Python, by the names that its constructor \
                            has for them.",
            "type": "object",
        },
    });
    schema["additionalProperties"] = json!(false);
}

/// Sets the keys of `schema` to those of `keys`.
fn patch(schema: &mut Value, keys: Value) {
    if let (Value::Object(schema), Value::Object(keys)) = (schema, keys) {
        schema.extend(keys);
    }
}

/// Joins the lines of descriptions, and expresses "absent" only as a missing key. (TOML has no
/// null.)
fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(keys) => {
            if let Some(Value::String(text)) = keys.get_mut("description") {
                let paragraphs = text
                    .split("\n\n")
                    .map(|lines| match lines.starts_with("```") {
                        true => lines.to_owned(),
                        false => lines.replace('\n', " "),
                    });
                *text = paragraphs.collect::<Vec<_>>().join("\n\n");
            }
            if let Some(Value::Array(types)) = keys.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = &mut types[..] {
                    let only = only.take();
                    keys.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(forms)) = keys.get_mut("anyOf") {
                forms.retain(|form| form["type"] != "null");
                if let [only] = &mut forms[..] {
                    let only = only.take();
                    keys.shift_remove("anyOf");
                    if let Value::Object(only) = only {
                        keys.extend(only);
                    }
                }
            }
            keys.values_mut().for_each(tidy);
        }
        Value::Array(values) => values.iter_mut().for_each(tidy),
        _ => {}
    }
}
