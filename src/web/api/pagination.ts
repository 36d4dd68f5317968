/** So many rows a list asks for at a time. */
export const PAGE_SIZE = 100

/** For an infinite query over a list of the API: each answer names the cursor of the next. */
export const CURSOR_PAGINATION = {
  initialPageParam: {},
  getNextPageParam: ({ nextCursor }: { nextCursor: string | null }): string | undefined => nextCursor ?? undefined,
}

/** The change of one part of every page that a list has loaded: `{pages: [{issues}]}` and `{issues}` alike; of nothing nothing. */
export function updatePages<Page>(change: (page: Page) => Page): (answer: unknown) => unknown {
  return (answer) => {
    if (answer === undefined) return undefined
    if (typeof answer !== 'object' || answer === null || !('pages' in answer)) return change(answer as Page)
    return { ...answer, pages: (answer.pages as Page[]).map(change) }
  }
}
