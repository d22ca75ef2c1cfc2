// Objects that are components of the OpenAPI document, by their name there.

import { z } from "zod";

type Shape = z.core.$ZodLooseShape;

/** Removes unknown members. */
export function component<Members extends Shape>(id: string, members: Members) {
  return z.object(members).meta({ id });
}

/** Refuses unknown members. */
export function strictComponent<Members extends Shape>(id: string, members: Members) {
  return z.strictObject(members).meta({ id });
}

/** Keeps unknown members. */
export function looseComponent<Members extends Shape>(id: string, members: Members) {
  return z.looseObject(members).meta({ id });
}
