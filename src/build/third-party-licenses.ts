import { thirdPartyLicenses } from './third-party.ts'

/**
 * Returns the licences of the packages that the program contains. The executable contains no packages, so `build.ts`
 * replaces this module with one that returns the embedded text.
 */
export const readThirdPartyLicenses = async (): Promise<string> => thirdPartyLicenses()
