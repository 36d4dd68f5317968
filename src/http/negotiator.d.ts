/** The part of negotiator that is used; the package has no types. */
declare module 'negotiator' {
  export default class Negotiator {
    constructor(request: { headers: Record<string, string> })
    /** Returns the preferred one of the available media types; undefined when none is acceptable. */
    mediaType(available: string[]): string | undefined
  }
}
