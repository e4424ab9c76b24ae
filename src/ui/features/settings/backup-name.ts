/** Says when, and sorts by it: `holdfast-2026-11-18T142500.sqlite`, in the time of the person. */
export function backupName(at: number): string {
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000)
  return `holdfast-${local.toISOString().slice(0, 19).replaceAll(':', '')}.sqlite`
}
