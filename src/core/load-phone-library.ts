let library: typeof import('libphonenumber-js/max') | null = null

/** Returns the library of phone number formats. It is loaded on first use, so that startup stays fast. */
export function loadPhoneLibrary() {
  library ??= require('libphonenumber-js/max') as typeof import('libphonenumber-js/max')
  return library
}
