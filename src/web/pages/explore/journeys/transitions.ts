import type { SessionFlows } from '#client/types.gen'

/** A transition from one page to the next. */
export interface Transition {
  /** Index of the step in which it starts. */
  step: number
  from: string
  /** Null when the session ended. */
  to: string | null
  sessions: number
  /** Share of this step's sessions on `from`, 0 to 1. */
  share: number
}

/** All transitions, most frequent first. Transitions from the last step are unknown. */
export function transitionsOf({ steps, links }: SessionFlows): Transition[] {
  const found: Transition[] = []
  const last = Math.max(-1, ...steps.map(({ index }) => index))
  for (const { index, nodes } of steps) {
    if (index === last) continue
    for (const { path, sessions } of nodes) {
      const outgoing = links.filter(({ fromStep, fromPath }) => fromStep === index && fromPath === path)
      const left = sessions - outgoing.reduce((sum, link) => sum + link.sessions, 0)
      const transition = (to: string | null, count: number) => ({
        step: index,
        from: path,
        to,
        sessions: count,
        share: sessions === 0 ? 0 : count / sessions,
      })
      found.push(...outgoing.map((link) => transition(link.toPath, link.sessions)))
      if (left > 0) found.push(transition(null, left))
    }
  }
  return found.sort((a, b) => b.sessions - a.sessions || a.step - b.step)
}
