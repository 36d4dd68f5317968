import { isFields } from './shape.ts'

/** Stands for a secret that the server has and does not show. */
export const STORED = Symbol('stored secret')

/** Values of variables that an export of the organization would contain. */
export type KnownValues = ReadonlyMap<string, string | typeof STORED>

/** A placeholder, or with more than one `$` a literal text that looks like one. */
const PLACEHOLDER = /\$(\$*)\{([A-Za-z_]\w*)\}/g

/** Adds a `$` to each text that looks like a placeholder, in all strings of a value. */
export const escapeAll = (value: unknown): unknown =>
  mapStrings(value, (text) => text.replace(PLACEHOLDER, (literal) => `$${literal}`))

/** Returns the placeholder of a variable. */
export const placeholderOf = (variable: string): string => `\${${variable}}`

/** Returns the name of a variable made of these words. */
export function variableName(...words: string[]): string {
  const name = words
    .map((word) => word.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, '_'))
    .join('_')
    .toUpperCase()
    .replaceAll(/[^A-Z\d]+/g, '_')
  return /^\d/.test(name) ? `_${name}` : name
}

/** A variable without a value. */
interface UnsetVariable {
  name: string
  /** Path of the string that contains it. */
  path: (string | number)[]
}

interface Filled {
  value: unknown
  unset: UnsetVariable[]
}

/**
 * Returns a value with its placeholders replaced. A variable that is not set has the value that it stands for on the
 * server, if any.
 */
export function fillPlaceholders(value: unknown, env: NodeJS.ProcessEnv, known: KnownValues): Filled {
  const unset: UnsetVariable[] = []
  const fill = (text: string, path: (string | number)[]): unknown => {
    const whole = /^\$\{([A-Za-z_]\w*)\}$/.exec(text)?.[1]
    if (whole !== undefined && env[whole] === undefined && known.get(whole) === STORED) return STORED
    return text.replace(PLACEHOLDER, (literal, more: string, name: string) => {
      if (more) return literal.slice(1)
      const found = env[name] ?? known.get(name)
      if (typeof found === 'string') return found
      unset.push({ name, path })
      return ''
    })
  }
  return { value: mapStrings(value, fill), unset }
}

function mapStrings(
  value: unknown,
  map: (text: string, path: (string | number)[]) => unknown,
  path: (string | number)[] = [],
): unknown {
  if (typeof value === 'string') return map(value, path)
  if (Array.isArray(value)) return value.map((one, index) => mapStrings(one, map, [...path, index]))
  if (!isFields(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, mapStrings(one, map, [...path, name])]))
}
