// The zone that machines read of an invented identity card. Its check digits are right.

export const italianZone = [
  "C<ITACA12345AA7<<<<<<<<<<<<<<<",
  "7709128M3308017ITA<<<<<<<<<<<2",
  "BRANDT<<JONAS<<<<<<<<<<<<<<<<<",
];
