let library: typeof import('libphonenumber-js/max') | null = null

/** The library that knows the phone numbers of all countries, read when it is first needed: a start needs none of it. */
export function phoneNumbers() {
  library ??= require('libphonenumber-js/max') as typeof import('libphonenumber-js/max')
  return library
}
