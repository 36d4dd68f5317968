/** An event that matches, or a window that would have fired, as the API gives it. */
export type Sample = Readonly<Record<string, unknown>>

/** When it was, or began; null when it does not say. */
export const timeOf = ({ receivedAt, ts, from }: Sample): number | null => {
  const [time] = [receivedAt, ts, from].filter((one) => typeof one === 'number')
  return time ?? null
}

/** What it is of, in short. */
export const placeOf = ({ vendor, event, host, path }: Sample): string =>
  [vendor, event, `${host ?? ''}${path ?? ''}`].filter(Boolean).join(' ')

/** The value of a parameter, or of a field of the event itself, as `$host`; the empty text where it is missing. */
export function valueAt(sample: Sample, key: string): unknown {
  const isField = key.startsWith('$') && !key.startsWith('$$')
  const [of, name] = [isField ? sample : (sample.params ?? {}), key.replace(/^\$/, '')]
  return Object.hasOwn(of, name) ? ((of as Sample)[name] ?? '') : ''
}
