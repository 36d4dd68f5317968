import type { Decoder, Route } from './decoder.ts'
import { lastCharacterOf, lastCharacters } from './pattern-last-characters.ts'
import type { VendorRequest } from './vendor-request.ts'

/** A route that can read a request, with its vendor. */
export interface Candidate {
  vendor: string
  route: Route
}

/**
 * A route for any host. `ends` contains the possible last characters of its paths; null when a path can end in any
 * character.
 */
interface AnyHost extends Candidate {
  ends: string | null
  /** True when few paths fit its pattern. */
  isNarrow: boolean
}

/** Routes for any host that may match paths with the same last character. */
interface Ending {
  all: AnyHost[]
  broad: AnyHost[]
  /** Matches every path that a narrow route may match: one test instead of many for the paths of unknown requests. */
  narrow: RegExp
}

/** Selects the decoder that reads a request. */
export class DecoderLookup {
  private readonly byHost = new Map<string, Candidate[]>()
  private readonly anyHost: AnyHost[] = []
  /**
   * The routes in `anyHost` that may match a path with this last character. Paths are ASCII, so the map stays small.
   */
  private readonly byEnd = new Map<string, Ending>()

  /** If two decoders could read the same request, the first one in the list does. */
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

  /** Tries the most specific host name first, then routes for any host. */
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

/** Unspecific paths. A pattern that matches one of them matches many paths on any site. */
const PLAIN_PATHS = ['/', '/x', '/x/x', '/x/x/x', '/x-1/x.js', '/x/x.html']

/** Returns the source without group names, because alternatives must not have groups with the same name. */
function withoutNames({ source }: RegExp): string {
  return source.replaceAll(/\(\?<\w+>/g, '(?:')
}

/** `a.b.c` → `b.c`. Empty after the last label. */
function parentOf(host: string): string {
  const dot = host.indexOf('.')
  return dot === -1 ? '' : host.slice(dot + 1)
}
