/** Operators of conditions. */
export const OPERATORS = [
  'equals',
  'not_equals',
  'contains',
  'not_contains',
  'starts_with',
  'ends_with',
  'not_starts_with',
  'not_ends_with',
  'is_blank',
  'not_blank',
  'length_eq',
  'length_gt',
  'length_lt',
  'gt',
  'lt',
  'regex',
  'contains_email',
  'contains_phone',
  'custom_pii_regex',
] as const
export type Operator = (typeof OPERATORS)[number]

/** Operators that do not need values and ignore them. */
export const WITHOUT_VALUES: ReadonlySet<Operator> = new Set([
  'is_blank',
  'not_blank',
  'contains_email',
  'contains_phone',
])
