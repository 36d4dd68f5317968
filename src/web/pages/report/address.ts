import type { Field } from '../../address/fields.ts'

/** An ISO 8601 week such as `2026-W47`; empty for the last complete one. */
const week: Field<string> = {
  parse: (given) => (/^\d{4}-W(?:0[1-9]|[1-4]\d|5[0-3])$/.test(given) ? given : undefined),
  write: (value) => value,
  fallback: '',
}

/** Search parameters of the weekly report. */
export const REPORT = { week }
