// Text as it is: code, JSON, arguments. A part that scrolls has to be reachable with the keyboard.

interface CodeBlockProps {
  /** What the text is, for screen readers. */
  readonly label: string;
  readonly text: string;
  readonly className?: string;
}

export function CodeBlock({ label, text, className }: CodeBlockProps) {
  return (
    <pre
      className={className === undefined ? "code-block" : `code-block ${className}`}
      role="group"
      aria-label={label}
      tabIndex={0}
    >
      {text}
    </pre>
  );
}
