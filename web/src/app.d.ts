declare global {
  namespace App {
    /** What the error page shows; the server's problem where there is one. */
    interface Error {
      message: string;
      detail?: string;
      requestId?: string;
      /** The request that failed, for a shell. */
      curl?: string | null;
    }
  }
}

export {};
