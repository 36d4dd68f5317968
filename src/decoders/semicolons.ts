import { type Params, readQuery } from './params.ts'

/** `a=1;b=2`: parameters as some vendors write them into the path of an address, or into one value. Else as `readQuery`. */
export function readSemicolons(text: string): Params {
  return readQuery(text.replaceAll('&', '%26').replaceAll(';', '&'))
}
