/** A segment, as in answers. */
export interface SegmentName {
  dimension: string
  value: string
}

/** Dimensions by which the dictionary can be filtered; the values of other dimensions are not fields of events. */
const FIELDS = ['browser', 'os', 'device', 'country', 'language', 'consent', 'release', 'pageGroup']

/**
 * Returns the segment as the dictionary's query parameter, such as `$browser=Safari;$browserVersion=18;$os=iOS`. Null
 * if the dictionary can't be filtered by it.
 */
export function segmentQuery({ dimension, value }: SegmentName): string | null {
  const [dimensions, values] = [dimension.split('+'), value.split('+')]
  if (dimensions.length !== values.length || value.includes(';')) return null
  const parts = dimensions.map((name, at) => partsOf(name, values[at] ?? ''))
  return parts.includes(null) ? null : parts.join(';')
}

function partsOf(dimension: string, value: string): string | null {
  // An unknown consent is a value, other unknown properties have none.
  const known = value === 'unknown' && dimension !== 'consent' ? '' : value
  if (dimension === 'browserVersion') {
    const [, browser = '', version = ''] = /^(.*) (\S+)$/.exec(known) ?? []
    return browser === '' ? null : `$browser=${browser};$browserVersion=${version}`
  }
  return FIELDS.includes(dimension) ? `$${dimension}=${known}` : null
}
