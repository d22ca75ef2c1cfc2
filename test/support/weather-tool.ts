// A function that a model may call, in the OpenAI format.

export function makeWeatherTool(name = "get_weather") {
  return {
    type: "function",
    function: {
      name,
      description: "The weather of a city",
      parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    },
  };
}
