import { session } from './session.ts'

/** A recently opened detail page. */
export interface Recent {
  /** `/issues/iss_…`. */
  path: string
  name: string
}

const MOST = 6
/** Path prefix of a detail page. */
const THING = /^\/[^/]+\/[^/]+/

/** Recent pages, most recent first; empty if the stored value is invalid. */
function read(): Recent[] {
  try {
    return JSON.parse(session.kept('recent') ?? '[]')
  } catch {
    return []
  }
}

export const recentPages = {
  /** Records a visit to a detail page. Visits are kept until the session ends. */
  visit(pathname: string, name: string): void {
    const path = THING.exec(pathname)?.[0]
    if (path === undefined) return
    const others = read().filter((one) => one.path !== path)
    session.keep('recent', JSON.stringify([{ path, name }, ...others].slice(0, MOST)))
  },

  /** Recent pages other than `pathname`, most recent first. */
  before: (pathname: string): Recent[] => read().filter(({ path }) => path !== THING.exec(pathname)?.[0]),
}
