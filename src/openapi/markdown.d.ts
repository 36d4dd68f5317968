/** A Markdown file of `docs/`, imported as a string. */
declare module '*.md' {
  const text: string
  export default text
}
