/** For an infinite query over a list of the API: each answer names the cursor of the next. */
export const PAGED = {
  initialPageParam: {},
  getNextPageParam: ({ nextCursor }: { nextCursor: string | null }): string | undefined => nextCursor ?? undefined,
}
