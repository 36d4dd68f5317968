import { type Params, readQuery } from './params.ts'

/**
 * Parses `a=1;b=2`, a format in which some vendors write parameters into the path of a URL or into a single value.
 * Otherwise like `readQuery`.
 */
export function readSemicolons(text: string): Params {
  return readQuery(text.replaceAll('&', '%26').replaceAll(';', '&'))
}
