// The sign of the product.

export function Mark({ size }: { readonly size: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" className="mark" />
      <path
        d="M7 10h6c5 0 5 12 10 12h2M7 22h6c5 0 5-12 10-12h2"
        fill="none"
        stroke="white"
        strokeWidth="2.6"
        strokeLinecap="round"
      />
    </svg>
  );
}
