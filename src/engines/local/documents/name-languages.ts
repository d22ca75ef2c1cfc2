/** The languages in which the names of countries and languages are recognised. */
export const nameLanguages: readonly string[] = "en de fr es it pt nl pl sv da nb fi cs sk hu ro tr el ru uk".split(
  " ",
);
