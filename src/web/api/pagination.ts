/** Rows per page of a list. */
export const PAGE_SIZE = 100

/** Applies `change` to a single response or to every loaded page; undefined stays undefined. */
export function updatePages<Page>(change: (page: Page) => Page): (answer: unknown) => unknown {
  return (answer) => {
    if (answer === undefined) return undefined
    if (typeof answer !== 'object' || answer === null || !('pages' in answer)) return change(answer as Page)
    return { ...answer, pages: (answer.pages as Page[]).map(change) }
  }
}
