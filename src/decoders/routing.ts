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
}

/** Which decoder reads a request. */
export class Routing {
  private readonly byHost = new Map<string, Candidate[]>()
  private readonly anyHost: AnyHost[] = []
  /** Those of `anyHost` that a path with this last character may fit. Paths are ASCII, so that there are few. */
  private readonly byEnd = new Map<string, AnyHost[]>()

  /** Where two decoders could read the same request, the one that comes first does. */
  constructor(decoders: readonly Decoder[]) {
    for (const { vendor, hosts, routes } of decoders) {
      const candidates = routes.map((route) => ({ vendor, route }))
      for (const host of hosts) this.byHost.set(host, [...(this.byHost.get(host) ?? []), ...candidates])
      const forAll = candidates.filter(({ route }) => route.anyHost)
      this.anyHost.push(...forAll.map((candidate) => ({ ...candidate, ends: lastCharacters(candidate.route.path) })))
    }
  }

  /** The most exact host name first, then those that may be on any host. */
  find(request: VendorRequest): Candidate | undefined {
    const fits = ({ route }: Candidate) => route.path.test(request.path) && (route.when?.(request) ?? true)
    for (let host = request.host; host !== ''; host = parentOf(host)) {
      const found = this.byHost.get(host)?.find(fits)
      if (found) return found
    }
    return this.endingLike(request.path).find(fits)
  }

  /** The vendor that a host belongs to by its decoder; null when no decoder names the host or one above it. */
  vendorOf(host: string): string | null {
    for (let name = host; name !== ''; name = parentOf(name)) {
      const [candidate] = this.byHost.get(name) ?? []
      if (candidate) return candidate.vendor
    }
    return null
  }

  private endingLike(path: string): AnyHost[] {
    const last = lastCharacterOf(path)
    const known = this.byEnd.get(last)
    if (known) return known
    const candidates = this.anyHost.filter(({ ends }) => ends === null || (last !== '' && ends.includes(last)))
    this.byEnd.set(last, candidates)
    return candidates
  }
}

/** `a.b.c` → `b.c`; empty after the last. */
function parentOf(host: string): string {
  const dot = host.indexOf('.')
  return dot === -1 ? '' : host.slice(dot + 1)
}
