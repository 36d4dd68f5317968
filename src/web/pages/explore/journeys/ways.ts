import type { SessionFlows } from '#client/types.gen'

/** From one page to the next. */
export interface Way {
  /** The step it begins in, from 0. */
  step: number
  from: string
  /** Null for those who left. */
  to: string | null
  sessions: number
  /** Of the sessions on `from` in this step, 0 to 1. */
  share: number
}

/** All ways of a flow, the most taken first. Where those of the last step went nobody knows. */
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
