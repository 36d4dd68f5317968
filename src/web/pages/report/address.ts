import type { Field } from '../../address/fields.ts'

/** A week by ISO 8601, `2026-W47`; empty for the last whole one. */
const week: Field<string> = {
  parse: (given) => (/^\d{4}-W(?:0[1-9]|[1-4]\d|5[0-3])$/.test(given) ? given : undefined),
  write: (value) => value,
  fallback: '',
}

/** What the address of the weekly report may say. */
export const REPORT = { week }
