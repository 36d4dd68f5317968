/** Maximum number of items in one page of a list. */
export const MAX_PAGE_SIZE = 200

/** Maximum length of the name of a user or an organization, in characters. */
export const MAX_NAME_LENGTH = 200
/** Maximum length of an e-mail address, in characters. */
export const MAX_EMAIL_LENGTH = 254
/** Length of a password, in characters. The maximum limits the cost of hashing. */
export const PASSWORD_LENGTH = { min: 10, max: 1000 }

/** Range of the sensitivity of volume alerts and signals. */
export const SENSITIVITY = { min: 2, max: 8 }
