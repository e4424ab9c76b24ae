export interface StorageUsage {
  usedBytes: number | null
  quotaBytes: number | null
  /** Whether the browser promised not to throw the data away when the disk gets full. Only a page can ask for that promise. */
  isPersisted: boolean | null
}

/** What the browser says about the origin. Null where it does not say. */
export async function readStorageUsage(storage: Partial<StorageManager> | undefined): Promise<StorageUsage> {
  const [estimate, isPersisted] = await Promise.all([
    storage?.estimate?.().catch(() => undefined),
    storage?.persisted?.().catch(() => undefined),
  ])
  return {
    usedBytes: estimate?.usage ?? null,
    quotaBytes: estimate?.quota ?? null,
    isPersisted: isPersisted ?? null,
  }
}
