/** Files included in the program as text. */
declare module '*.tpl' {
  const text: string
  export default text
}

declare module '*.mjs' {
  const text: string
  export default text
}

declare module '*.py' {
  const text: string
  export default text
}

declare module '*.sh' {
  const text: string
  export default text
}

declare module '*.kt' {
  const text: string
  export default text
}

declare module '*.swift' {
  const text: string
  export default text
}
