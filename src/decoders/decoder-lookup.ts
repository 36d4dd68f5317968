import type { Decoder, Route } from './decoder.ts'
import { lastCharacterOf, lastCharacters } from './pattern-last-characters.ts'
import type { VendorRequest } from './vendor-request.ts'

/** A route that may read a request, and its vendor. */
export interface Candidate {
  vendor: string
  route: Route
}

/**
 * A route for any host. `ends` contains the possible last characters of paths that match it; null when the last
 * character can be any.
 */
interface AnyHost extends Candidate {
  ends: string | null
  /** True when the pattern matches only few paths. */
  isNarrow: boolean
}

/** Routes for any host that may match paths with the same last character. */
interface Ending {
  all: AnyHost[]
  broad: AnyHost[]
  /**
   * Matches every path that one of the narrow routes may match. For the paths of unknown requests, one test replaces
   * many.
   */
  narrow: RegExp
}

/** Finds the decoder for a request. */
export class DecoderLookup {
  private readonly byHost = new Map<string, Candidate[]>()
  private readonly anyHost: AnyHost[] = []
  /**
   * Routes in `anyHost` that may match a path, by the last character of the path. Paths are ASCII, so the map remains
   * small.
   */
  private readonly byEnd = new Map<string, Ending>()

  /** If two decoders can read the same request, the one that is earlier in the list is used. */
  constructor(decoders: readonly Decoder[]) {
    for (const { vendor, hosts, routes } of decoders) {
      const candidates = routes.map((route) => ({ vendor, route }))
      for (const host of hosts) this.byHost.set(host, [...(this.byHost.get(host) ?? []), ...candidates])
      const forAll = candidates.filter(({ route }) => route.anyHost)
      for (const candidate of forAll) {
        const { path } = candidate.route
        this.anyHost.push({
          ...candidate,
          ends: lastCharacters(path),
          isNarrow: !PLAIN_PATHS.some((plain) => path.test(plain)),
        })
      }
    }
  }

  /**
   * Tries routes for the most specific host name first, then those for its parent domains, then routes for any host.
   */
  find(request: VendorRequest): Candidate | undefined {
    const fits = ({ route }: Candidate) => route.path.test(request.path) && (route.when?.(request) ?? true)
    for (let host = request.host; host !== ''; host = parentOf(host)) {
      const found = this.byHost.get(host)?.find(fits)
      if (found) return found
    }
    const { all, broad, narrow } = this.endingLike(request.path)
    return (narrow.test(request.path) ? all : broad).find(fits)
  }

  /** Returns the vendor whose decoder lists the host or one of its parent domains; null when there is none. */
  vendorOf(host: string): string | null {
    for (let name = host; name !== ''; name = parentOf(name)) {
      const [candidate] = this.byHost.get(name) ?? []
      if (candidate) return candidate.vendor
    }
    return null
  }

  private endingLike(path: string): Ending {
    const last = lastCharacterOf(path)
    const known = this.byEnd.get(last)
    if (known) return known
    const all = this.anyHost.filter(({ ends }) => ends === null || (last !== '' && ends.includes(last)))
    const narrow = all.filter(({ isNarrow }) => isNarrow).map(({ route }) => withoutNames(route.path))
    const ending = { all, broad: all.filter(({ isNarrow }) => !isNarrow), narrow: new RegExp(narrow.join('|'), 'i') }
    this.byEnd.set(last, ending)
    return ending
  }
}

/** Generic paths. A pattern that matches one of them matches many paths on any site. */
const PLAIN_PATHS = ['/', '/x', '/x/x', '/x/x/x', '/x-1/x.js', '/x/x.html']

/** Returns the pattern's source without group names, because names must be unique when patterns are combined. */
function withoutNames({ source }: RegExp): string {
  return source.replaceAll(/\(\?<\w+>/g, '(?:')
}

/** Returns the parent domain: `a.b.c` → `b.c`. Empty for a single label. */
function parentOf(host: string): string {
  const dot = host.indexOf('.')
  return dot === -1 ? '' : host.slice(dot + 1)
}
