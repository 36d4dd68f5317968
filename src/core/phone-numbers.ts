let library: typeof import('libphonenumber-js/max') | null = null

/** Returns the library of phone number formats. Loaded on first use, to keep startup fast. */
export function phoneNumbers() {
  library ??= require('libphonenumber-js/max') as typeof import('libphonenumber-js/max')
  return library
}
