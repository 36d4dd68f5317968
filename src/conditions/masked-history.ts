import type { Binder, Masking } from '../warehouse/query.ts'
import type { History } from '../warehouse/warehouse.ts'
import { compileMask, maskPersonal, OPEN_FIELDS } from './mask-personal-data.ts'
import { compilePattern } from './pattern.ts'
import { personalCandidates } from './personal-data-sql.ts'
import type { Privacy } from './privacy-settings.ts'

/** Matches at least 7 digits, which is the length of the shortest national phone number. */
const SEVEN_DIGITS = '((?:[0-9][^0-9]*){7})'

/**
 * Returns the history for users who are not allowed to see personal data. Values are masked before they are compared,
 * sorted, grouped or counted, so no result depends on masked data.
 */
export function maskedHistory(history: History, privacy: Privacy): History {
  const masking: Masking = {
    candidates: (binder) => candidates(binder, privacy),
    mask: compileMask([], privacy),
    maskName: (name, field) => maskPersonal(name, `$${field}`, privacy),
  }
  return { query: (query) => history.query({ ...query, masking }) }
}

function candidates(binder: Binder, { regions, patterns }: Privacy): ReturnType<Masking['candidates']> {
  const { dialect } = binder
  const { any, field } = personalCandidates(binder, [])
  const bound = [
    ...patterns.map(({ pattern }) => compilePattern(pattern).portable),
    ...(regions.length > 0 ? [SEVEN_DIGITS] : []),
  ].map((pattern) => binder.bind(pattern))
  const own = (text: string) => bound.map((pattern) => `coalesce(${dialect.matches(text, pattern)}, false)`)
  const mayChange = (text: string) => `(${[field(text), ...own(text)].join(' OR ')})`
  const test = {
    column: any.column,
    of: (key: string | null) =>
      key !== null && maskPersonal(key, '', { regions, patterns }) !== key
        ? '(1 = 1)'
        : `(${[any.of(key), ...own('{value}')].join(' OR ')})`,
  }
  const fields = OPEN_FIELDS.map((name) => mayChange(dialect.field(name)))
  return { anyTests: [test], where: `(${[any.column, dialect.anyName(mayChange), ...fields].join(' OR ')})` }
}
