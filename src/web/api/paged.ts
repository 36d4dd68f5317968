/** An answer of which more follows. */
interface Paged {
  nextCursor: string | null
}

/** What an infinite query needs beside the generated options: begin without a cursor, go on with the one of the last answer. */
export const PAGED = {
  initialPageParam: {},
  getNextPageParam: ({ nextCursor }: Paged) => nextCursor ?? undefined,
}
