// The roles of people and management keys. Each one may do everything that those before it may.

export const roles = ["viewer", "operator", "administrator"] as const;

export type Role = (typeof roles)[number];

export function includesRole(role: Role | null, required: Role): boolean {
  return role !== null && roles.indexOf(role) >= roles.indexOf(required);
}
