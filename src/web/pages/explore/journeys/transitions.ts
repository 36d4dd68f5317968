import type { SessionFlows } from '#client/types.gen'

/** A transition from one page to the next. */
export interface Way {
  /** Index of the step in which it starts. */
  step: number
  from: string
  /** Null when the session ended. */
  to: string | null
  sessions: number
  /** Share of the sessions on `from` in this step, 0 to 1. */
  share: number
}

/** All transitions, most frequent first. Where sessions went after the last step is unknown. */
export function ways({ steps, links }: SessionFlows): Way[] {
  const found: Way[] = []
  const last = Math.max(-1, ...steps.map(({ index }) => index))
  for (const { index, nodes } of steps) {
    if (index === last) continue
    for (const { path, sessions } of nodes) {
      const taken = links.filter(({ fromStep, fromPath }) => fromStep === index && fromPath === path)
      const gone = sessions - taken.reduce((sum, link) => sum + link.sessions, 0)
      const way = (to: string | null, count: number) => ({
        ...{ step: index, from: path, to, sessions: count },
        share: sessions === 0 ? 0 : count / sessions,
      })
      found.push(...taken.map((link) => way(link.toPath, link.sessions)))
      if (gone > 0) found.push(way(null, gone))
    }
  }
  return found.sort((a, b) => b.sessions - a.sessions || a.step - b.step)
}
