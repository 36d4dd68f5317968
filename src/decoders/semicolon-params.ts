import { type Params, readQuery } from './params.ts'

/**
 * Parses `a=1;b=2`: parameters as some vendors write them into the path of a URL or into one value. Otherwise like
 * `readQuery`.
 */
export function readSemicolons(text: string): Params {
  return readQuery(text.replaceAll('&', '%26').replaceAll(';', '&'))
}
