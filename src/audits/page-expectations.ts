import { compilePattern } from '../conditions/pattern.ts'
import { type CompiledExpectation, compileExpectations, type LabelMembers } from '../flows/match-expectations.ts'
import type { AuditPage, ExpectedPage } from './audit.ts'

/** The fields of a page that determine which events are expected on it. */
export type LoadedPage = Pick<AuditPage, 'url' | 'status' | 'error'>

/** Returns the expectations for a page. Returns none for a page that could not be loaded. */
export type Expected = (page: LoadedPage) => CompiledExpectation[]

/**
 * Returns a function that selects the expectations for a page. `labels` contains the members of each label that they
 * use.
 */
export function expectedOf(expect: readonly ExpectedPage[], labels: LabelMembers): Expected {
  const compiled = compileExpectations(
    expect.map(({ path: _, ...expectation }) => expectation),
    labels,
  )
  const paths = expect.map(({ path }) => (path === undefined ? null : compilePattern(path)))
  return (page) => {
    if (isFailed(page)) return []
    const { pathname } = new URL(page.url)
    return compiled.filter(({ index }) => paths[index]?.matches(pathname) ?? true)
  }
}

/** True for a page without a response or with a status of 400 or above. */
export const isFailed = ({ error, status }: Pick<LoadedPage, 'error' | 'status'>): boolean =>
  error !== null || status === null || status >= 400
