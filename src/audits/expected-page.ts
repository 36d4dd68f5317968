import { compilePattern } from '../conditions/pattern.ts'
import { type CompiledExpectation, compileExpectations, type LabelMembers } from '../flows/match-expectations.ts'
import type { AuditPage, ExpectedPage } from './audit.ts'

/** What says whether anything is expected of a page, and what. */
export type LoadedPage = Pick<AuditPage, 'url' | 'status' | 'error'>

/** Returns what is expected of a page; of one that could not be loaded: nothing. */
export type Expected = (page: LoadedPage) => CompiledExpectation[]

/** `labels`: the members of each label that is named. */
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

/** True for a page without an answer, or with a status from 400. */
export const isFailed = ({ error, status }: Pick<LoadedPage, 'error' | 'status'>): boolean =>
  error !== null || status === null || status >= 400
