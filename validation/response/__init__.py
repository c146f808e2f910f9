"""The response functions of the controls, beside the equations that describe them."""
