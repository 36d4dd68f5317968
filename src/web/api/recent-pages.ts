import { session } from './session.ts'

/** A thing whose page was open. */
export interface Recent {
  /** `/issues/iss_…`. */
  path: string
  name: string
}

const MOST = 6
/** The page of one thing, whichever of its pages it is. */
const THING = /^\/[^/]+\/[^/]+/

/** The latest first. What can not be read is nothing. */
function read(): Recent[] {
  try {
    return JSON.parse(session.kept('recent') ?? '[]')
  } catch {
    return []
  }
}

export const recentPages = {
  /** Remembers that the page of a thing is open, for as long as somebody is signed in. */
  visit(pathname: string, name: string): void {
    const path = THING.exec(pathname)?.[0]
    if (path === undefined) return
    const others = read().filter((one) => one.path !== path)
    session.keep('recent', JSON.stringify([{ path, name }, ...others].slice(0, MOST)))
  },

  /** Things whose pages were open before that of `pathname`, the latest first. */
  before: (pathname: string): Recent[] => read().filter(({ path }) => path !== THING.exec(pathname)?.[0]),
}
