import { defineProvider } from "../provider.ts";
import { removesBackground } from "../shapes/images.ts";

const removeBackground = removesBackground("/v1/segment", "image/png, application/json", {
  docs: "https://docs.photoroom.com/remove-background-api-basic-plan",
});

export const photoroom = defineProvider("photoroom", "Photoroom", {
  docs: "https://docs.photoroom.com",
  baseUrl: "https://sdk.photoroom.com",
  auth: { kind: "header", name: "x-api-key" },
  tasks: [removeBackground],
});
