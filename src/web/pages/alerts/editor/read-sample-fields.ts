/** A matching event, or an interval in which the alert would have fired, as returned by the API. */
export type Sample = Readonly<Record<string, unknown>>

/** The time of an event, or the start of an interval; null when unknown. */
export const timeOf = ({ receivedAt, ts, from }: Sample): number | null => {
  const [time] = [receivedAt, ts, from].filter((one) => typeof one === 'number')
  return time ?? null
}

/** Vendor, event and page in one line. */
export const sourceOf = ({ vendor, event, host, path }: Sample): string =>
  [vendor, event, `${host ?? ''}${path ?? ''}`].filter(Boolean).join(' ')

/** The value of a parameter or of an event field (`$host`); an empty string when missing. */
export function valueAt(sample: Sample, key: string): unknown {
  const isField = key.startsWith('$') && !key.startsWith('$$')
  const [of, name] = [isField ? sample : (sample.params ?? {}), key.replace(/^\$/, '')]
  return Object.hasOwn(of, name) ? ((of as Sample)[name] ?? '') : ''
}
