//! The schema describes what is read.

use skywave_registry::Value;

use super::Registry;

/// Returns every field of a definition with its path.
fn fields(schema: &Value) -> impl Iterator<Item = (String, &Value)> {
    let definitions = schema["$defs"].as_object().unwrap();
    definitions.iter().flat_map(|(name, definition)| {
        let fields = definition["properties"].as_object().into_iter().flatten();
        fields.map(move |(field, schema)| (format!("{name}.{field}"), schema))
    })
}

#[test]
fn the_schema_says_of_each_field_what_it_is_and_of_each_number_its_unit() {
    let schema = Registry::default().schema();
    assert!(fields(&schema).count() > 150);
    for (path, field) in fields(&schema) {
        let is_documented = field["description"].is_string() || field["x-member"].is_string();
        assert!(is_documented, "{path} has no documentation: {field}");
        let of_type = |name: &str| {
            let types = &field["type"];
            types == name
                || types
                    .as_array()
                    .is_some_and(|all| all.contains(&name.into()))
        };
        if of_type("integer") || of_type("number") {
            assert!(field["x-unit"].is_string(), "{path} has no unit: {field}");
        }
    }
}

#[test]
fn the_schema_has_each_member_of_the_registry() {
    let registry = Registry::default();
    let schema = registry.schema();
    let definitions = &schema["$defs"];
    for name in registry.queues.names() {
        let forms = definitions["Queue"]["oneOf"].as_array().unwrap();
        let has = |form: &Value| form["properties"].get(name).is_some();
        assert_eq!(forms.iter().filter(|form| has(form)).count(), 1, "{name}");
    }
    for name in registry.controls.names() {
        for transport in ["Tcp", "Dccp"] {
            assert_eq!(definitions[transport]["properties"][name]["x-member"], name);
        }
    }
    for transport in ["Tcp", "Dccp"] {
        // A control in Python is named by its class, and its parameters stand under that name.
        let pattern = &definitions[transport]["properties"]["control"]["anyOf"][1]["pattern"];
        let tables = &definitions[transport]["patternProperties"];
        assert_eq!(tables[pattern.as_str().unwrap()]["type"], "object");
    }
}
