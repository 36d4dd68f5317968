import { isDeepStrictEqual } from 'node:util'
import { type Fields, isFields } from './shape.ts'

/** Returns the fields with absent ones set to their default, also in nested objects. */
export function fillDefaults(defaults: Fields, fields: Fields): Fields {
  const filled: Fields = { ...fields }
  for (const [name, value] of Object.entries(defaults)) {
    const given = fields[name]
    if (given === undefined) filled[name] = value
    else if (isFields(value) && isFields(given)) filled[name] = fillDefaults(value, given)
  }
  return filled
}

/** Returns the fields without those that have their default, also in nested objects. */
export function omitDefaults(defaults: Fields, fields: Fields): Fields {
  const kept = Object.entries(fields).flatMap(([name, value]): [string, unknown][] => {
    if (!Object.hasOwn(defaults, name)) return [[name, value]]
    const normal = defaults[name]
    if (isDeepStrictEqual(value, normal)) return []
    return [[name, isFields(value) && isFields(normal) ? omitDefaults(normal, value) : value]]
  })
  return Object.fromEntries(kept)
}
