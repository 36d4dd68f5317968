import type { Decoder, Route } from './decoder.ts'
import { lastCharacterOf, lastCharacters } from './path-end.ts'
import type { VendorRequest } from './request.ts'

/** One way to read a request, and whose it then is. */
export interface Candidate {
  vendor: string
  route: Route
}

/** Routes for any host, and how a path must end for them; null: it may end in any way. */
interface AnyHost extends Candidate {
  ends: string | null
  /** True when few paths fit its pattern. */
  isNarrow: boolean
}

/** Routes for any host that paths with the same last character may fit. */
interface Ending {
  all: AnyHost[]
  broad: AnyHost[]
  /** Fits the paths that a narrow one may fit: one look instead of many at the paths of unknown requests. */
  narrow: RegExp
}

/** Which decoder reads a request. */
export class Routing {
  private readonly byHost = new Map<string, Candidate[]>()
  private readonly anyHost: AnyHost[] = []
  /** Those of `anyHost` that a path with this last character may fit. Paths are ASCII, so that there are few. */
  private readonly byEnd = new Map<string, Ending>()

  /** Where two decoders could read the same request, the one that comes first does. */
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

  /** Tries the most specific host name first, then decoders for any host. */
  find(request: VendorRequest): Candidate | undefined {
    const fits = ({ route }: Candidate) => route.path.test(request.path) && (route.when?.(request) ?? true)
    for (let host = request.host; host !== ''; host = parentOf(host)) {
      const found = this.byHost.get(host)?.find(fits)
      if (found) return found
    }
    const { all, broad, narrow } = this.endingLike(request.path)
    return (narrow.test(request.path) ? all : broad).find(fits)
  }

  /** The vendor that a host belongs to by its decoder; null when no decoder names the host or one above it. */
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

/** Paths that say nothing: a pattern that fits one of them fits many of any site. */
const PLAIN_PATHS = ['/', '/x', '/x/x', '/x/x/x', '/x-1/x.js', '/x/x.html']

/** Groups with the same name must not be alternatives. */
function withoutNames({ source }: RegExp): string {
  return source.replaceAll(/\(\?<\w+>/g, '(?:')
}

/** `a.b.c` → `b.c`; empty after the last. */
function parentOf(host: string): string {
  const dot = host.indexOf('.')
  return dot === -1 ? '' : host.slice(dot + 1)
}
