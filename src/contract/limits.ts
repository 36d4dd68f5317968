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

/** Maximum number of issues that one request changes. */
export const MAX_CHANGED_ISSUES = 500
/** Maximum length of an issue's notes, in characters. */
export const MAX_NOTES_LENGTH = 2000
/** Maximum length of the reason for which an issue is muted, in characters. */
export const MAX_MUTE_REASON_LENGTH = 500

/** Maximum number of channels of an alert. */
export const MAX_CHANNELS = 10
/** Maximum number of condition groups of an alert. */
export const MAX_CONDITION_GROUPS = 20
/** Maximum number of messages per time span of an alert's throttle, and maximum length of the time span in its unit. */
export const MAX_THROTTLE = { count: 1000, per: 10_080 }

/** Maximum time range of queries, in hours. */
export const MAX_HOURS = {
  comparison: 744,
  dictionary: 168,
  journeys: 336,
  performance: 744,
  preview: 168,
  series: 9600,
}
/** Maximum time range of the comparison of orders, in days. */
export const MAX_ORDER_DAYS = 90
/** Maximum time range of paired events, in days. */
export const MAX_PAIRED_DAYS = 30
